import type { Meta, StoryObj } from '@storybook/react-vite';
import { userEvent, within } from 'storybook/test';

import { Button, Field, Panel } from './parts';

const meta = { title: 'Forms/Whole forms' } satisfies Meta;
export default meta;
type Story = StoryObj<typeof meta>;

const SignInForm = () => (
  <form className="panel form stack">
    <h2>Welcome back</h2>
    <Field label="Mail address" type="email" defaultValue="ada@harbour.example" />
    <Field label="Password" type="password" defaultValue="tidewater" note="Twelve characters or more." />
    <label className="check"><input type="checkbox" defaultChecked /> Keep me signed in</label>
    <Button>Sign in</Button>
  </form>
);

export const SignIn: Story = { render: SignInForm };
export const SignInByNight: Story = { render: SignInForm, globals: { theme: 'night' } };

export const BookABerth: Story = {
  render: () => (
    <form className="panel form stack">
      <h2>Book a berth</h2>
      <div className="pair">
        <Field label="Ship" defaultValue="Heron 2" />
        <Field label="Tonnes" type="number" defaultValue="42000" />
        <Field label="Arrives" type="date" defaultValue="2031-05-04" />
        <Field label="Leaves" type="date" defaultValue="2031-05-09" />
      </div>
      <div className="field">
        <label htmlFor="quay">Quay</label>
        <select id="quay" defaultValue="north"><option value="north">North quay</option><option>South quay</option></select>
      </div>
      <div className="field"><label htmlFor="cargo">Cargo</label><textarea id="cargo" rows={4} defaultValue="Timber, paper, two crates of clocks." /></div>
      <fieldset className="row"><legend>Needs</legend>
        {['Pilot', 'Tug', 'Water', 'Power'].map((need, at) => (
          <label key={need} className="check"><input type="checkbox" defaultChecked={at < 2} /> {need}</label>
        ))}
      </fieldset>
      <div className="row"><Button>Book</Button><Button kind="quiet">Back</Button></div>
    </form>
  ),
};

export const Payment: Story = {
  render: () => (
    <form className="panel form stack">
      <h2>Pay the harbour dues</h2>
      <Field label="Card number" defaultValue="4000 0000 0000 0002" wrong="The card was refused." />
      <div className="pair"><Field label="Until" defaultValue="09 / 33" /><Field label="Code" defaultValue="123" /></div>
      <p className="soft">1,284.00 for five nights, pilot included.</p>
      <Button size="large">Pay</Button>
    </form>
  ),
};

export const Settings: Story = {
  render: () => (
    <div className="stack">
      {['Notices', 'Working hours', 'Language', 'Access'].map((part) => (
        <Panel key={part} title={part}>
          <div className="pair"><Field label={`${part} from`} defaultValue="06:00" /><Field label={`${part} until`} defaultValue="22:00" /></div>
          <label className="check"><input type="radio" name={part} defaultChecked /> Everybody</label>
          <label className="check"><input type="radio" name={part} /> Pilots only</label>
          <input type="range" defaultValue={60} /> <progress value={0.6} />
        </Panel>
      ))}
    </div>
  ),
};

export const Search: Story = {
  render: () => (
    <form className="panel form stack"><Field label="Find" /><ul><li>Heron 2</li><li>Heron 14</li></ul></form>
  ),
  play: async ({ canvasElement, step }) => {
    await step('types a name', async () => {
      await userEvent.type(within(canvasElement).getByLabelText('Find'), 'heron');
    });
  },
};
