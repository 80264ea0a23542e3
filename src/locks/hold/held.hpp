// What a Hold refers to.
#pragma once

namespace latchkey::detail {

/// A RemoteHold, or a MultiHold where the hold has several keys: the Hold knows which.
class Held {};

}  // namespace latchkey::detail
