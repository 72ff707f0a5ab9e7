import { userEvent, within } from 'storybook/test';

export default { title: 'Hazards/Pointer' };

const hovered = '.follows:hover { background: #d81e3f } .follows { background: #14a44d }';

const Covering = () => (
  <>
    <style>{hovered}</style>
    <div className="follows" style={{ position: 'fixed', inset: 0 }} />
  </>
);

/** Wherever the mouse is, it is over this. */
export const Hovered = { render: () => <Covering /> };

export const FollowsTheMouse = {
  render: () => {
    const follow = ({ target, clientX }) => {
      target.style.background = '#d81e3f';
      target.textContent = `at ${clientX}`;
    };
    return <div className="swatch" data-good onMouseMove={follow} style={{ width: 600, height: 300 }} />;
  },
};

/** A play function leaves the focus, a selection, and what it hovered. */
export const LeavesAFocusAndASelection = {
  render: () => <input aria-label="name" defaultValue="chosen by the play function" />,
  play: async ({ canvasElement }) => {
    const field = within(canvasElement).getByLabelText('name');
    await userEvent.click(field);
    field.select();
  },
};

export const SpellChecked = {
  render: () => (
    <textarea autoFocus spellCheck lang="en" rows="3" cols="40" defaultValue="speling mistaks evrywhere" />
  ),
};

export const FilledByTheBrowser = {
  render: () => (
    <form>
      <input autoComplete="username" name="username" />
      <input autoComplete="current-password" name="password" type="password" defaultValue="secret" />
    </form>
  ),
};

const box = { width: 200, height: 100, border: '1px solid #888' };

export const ScrollBars = {
  render: () => (
    <div style={{ ...box, overflow: 'scroll' }}>
      <div style={{ width: 600, height: 600, background: 'linear-gradient(135deg, #14a44d, #e8eef8)' }} />
    </div>
  ),
};
