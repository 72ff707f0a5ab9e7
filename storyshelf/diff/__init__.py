"""Whether two pictures are equal, and if not, where: pure functions over bytes and arrays.

`verdict` answers for a pair of PNG files, and `cover` tells whether what differs lies where it may.
Under `verdict`, `png` refuses what cannot be trusted and decodes the rest, `compare` sorts the
pixels that differ by how far they do, `ignored` leaves out what nobody wants compared, `antialias`
forgives the edges that only moved within a pixel, `faint` finds what is under the threshold for
each pixel and still visible as a whole, `regions` and `mask` are what a reviewer is shown. Nothing
here opens a file, waits, or keeps state.

The metric has a name, `yiq-7`, because the engines in use do not agree on one and it is stored with
every verdict: it is that of pixelmatch 5 to 7 (8 measures in OKLab), and on opaque pictures the
counts equal those of pixelmatch 7.2. Three rules differ or are added, on purpose:

- Translucent pixels are laid on white instead of a checkerboard keyed by their position, so that
  a count does not depend on where in the picture a thing stands; a difference in alpha beyond
  the threshold is a change even where it would not show on white.
- A colour far under the threshold is a change where it is wide or makes a line (`faint`). A light
  border that moved has no pixel over the threshold, and people see it.
- Pictures of unequal size are laid on each other at the top left; a pixel that only one of them has
  is different, and no tolerance turns a change of size into a pass.
"""
