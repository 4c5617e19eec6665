#pragma once

// What a kernel of the vector quotient filter sees in a block.

namespace bloomery::detail {

struct vq_seen {
  unsigned copies;  ///< of the remainder in its bucket
  unsigned slot;    ///< of the first one; of no meaning without any
  unsigned end;     ///< of the bucket's run
  unsigned taken;   ///< slots in use
};

}  // namespace bloomery::detail
