/** Switches that are read while the Storybook is built. */
interface ImportMetaEnv {
  /** `next` gives Badge its coming look. */
  readonly STORYBOOK_SHELF_LOOK?: string;
  /** `1` makes Avatar's `Group` story throw while it renders. */
  readonly STORYBOOK_SHELF_BROKEN?: string;
  /** `1` paints one pixel of Table's `Loans` story. */
  readonly STORYBOOK_SHELF_PIXEL?: string;
}
