import { useState } from 'react';
import { userEvent, within } from 'storybook/test';

import { Swatch } from './parts';

export default { title: 'Hazards/Wishes' };

const STEPS = ['#d81e3f', '#b3009e', '#14a44d'];

const Steps = () => {
  const [step, setStep] = useState(0);
  return (
    <button
      style={{ width: 120, height: 60, border: 0, background: STEPS[step] }}
      onClick={() => setStep((before) => before + 1)}
    />
  );
};

export const Shots = {
  parameters: { storyshelf: { shots: ['before', 'half way'] } },
  render: () => <Steps />,
  play: async ({ canvasElement, step }) => {
    const button = within(canvasElement).getByRole('button');
    await globalThis.storyshelf?.shot('before');
    await step('the reader clicks', async () => {
      await userEvent.click(button);
      await globalThis.storyshelf?.shot('half way');
    });
    await userEvent.click(button);
  },
};

export const ShotsUndeclared = {
  render: () => <Swatch />,
  play: () => globalThis.storyshelf?.shot('nobody knows'),
};

const Ticking = () => (
  <div style={{ width: 120, height: 60, background: '#14a44d' }}>
    <b className="chromatic-ignore" style={{ display: 'block', width: 50, height: 20 }}>12:04</b>
    <i data-testid="load" style={{ display: 'block', width: 30, height: 10 }} />
  </div>
);

export const Ignored = {
  parameters: { chromatic: { ignoreSelectors: ['[data-testid=load]'] } },
  render: () => <Ticking />,
};
