import type { Meta, StoryObj } from '@storybook/react-vite';
import { createPortal } from 'react-dom';

import { Button, Field } from './parts';

const meta = { title: 'Overlays/All' } satisfies Meta;
export default meta;
type Story = StoryObj<typeof meta>;

const RULE = 'Ships over forty thousand tonnes take a pilot at the outer buoy, whatever the weather. ';

const confirm = () =>
  createPortal(
    <div className="veil"><section className="panel dialog" role="dialog">
      <h2>Cancel the voyage?</h2><p className="soft">The berth is given to the next ship at once.</p>
      <div className="row"><Button kind="risky">Cancel it</Button><Button kind="quiet">Keep it</Button></div>
    </section></div>,
    document.body,
  );

export const Confirm: Story = { render: confirm };
export const ConfirmByNight: Story = { render: confirm, globals: { theme: 'night' } };
export const WithForm: Story = {
  render: () => createPortal(
    <div className="veil"><section className="panel dialog stack" role="dialog">
      <h2>Rename the ship</h2><Field label="New name" defaultValue="Dunlin 6" /><Button>Rename</Button>
    </section></div>,
    document.body,
  ),
};
export const LongRules: Story = {
  render: () => createPortal(
    <div className="veil"><section className="panel dialog" role="dialog">
      <h2>Rules of the harbour</h2>{Array.from({ length: 30 }, (_, at) => <p key={at}>{at + 1}. {RULE}</p>)}
    </section></div>,
    document.body,
  ),
};
export const Drawer: Story = {
  render: () => createPortal(<aside className="panel drawer stack"><h2>Filters</h2><Field label="Flag" /><Field label="Least tonnes" type="number" /><Button>Show</Button></aside>, document.body),
};
export const Toast: Story = {
  render: () => createPortal(<div className="panel toast" role="status"><strong>Saved.</strong><span className="soft">The pilot was told.</span></div>, document.body),
};
