"""The browser's half of a capture: how a story's picture is made, and what it may cost.

Decided here, once for all pictures (a change of any of these raises `CAPTURE_PROTOCOL`):

- **Storybook runs as for a person.** Playwright's `expose_binding` would plant a global that some
  Storybook versions take for a test environment and then treat animations differently; nothing in
  this package exposes a binding, and a test holds that no page sees one. Events are recorded by the
  page script and fetched by `evaluate`.
- **Time stands still** at a fixed instant, but timers run. Inside a `setTimeout` callback the clock
  shows what the timeout asked for, and inside an animation frame how far the animation is, or
  debounced updates and entrance animations would never end. Chance begins anew with each story.
- **Frames are counted, not timed**: an animation frame is told the time of a steady 60 Hz screen,
  counted from what asked for it. Once the story is done, frames come as fast as the page takes
  them, and a loop that has no end is held after 180 of them, at the same turn in every page.
- **Animations are over**: one iteration of 1 ms, then finished, or cancelled where they never end;
  a story may want them held at their start instead. SMIL and video rest at their start; animated
  images show their first frame (a browser setting).
- **Scrollbars are hidden** by a word to each page, since a browser's own setting has no exception.
- **Focus stays where the story left it**; the caret is invisible; the mouse is outside the window.
- **Service workers are allowed**: mocked stories need them. An origin belongs to one build, and
  what a story stored is cleared before the next one.
- **A page may show one story after another.** Only bytes that are the baseline's are believed
  there; whatever else comes out, the story is loaded by itself and shot again. `aftermath` has the
  rest of it.
- **The picture** is the content's box with a padding. Content taller than the viewport gets a
  taller viewport, unless its height follows the viewport's: then it is drawn beyond it instead.
"""
