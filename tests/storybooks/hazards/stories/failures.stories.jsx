import { expect, within } from 'storybook/test';

import { Afterwards } from './parts';

export default { title: 'Hazards/Failures' };

const Faulty = () => {
  throw new Error('the render fault was not caught');
};

const throwInEffect = () => {
  throw new Error('the effect fault was not caught');
};

const assertWhatIsNotThere = async ({ canvasElement }) => {
  await expect(within(canvasElement).getByText('before')).toHaveTextContent('after the click');
};

export const ThrowsInRender = { render: () => <Faulty /> };

export const ThrowsInEffect = { render: () => <Afterwards act={throwInEffect} /> };

export const ThrowsInLoader = {
  loaders: [
    async () => {
      throw new Error('the loader fault was not caught');
    },
  ],
  render: () => <p>never seen</p>,
};

export const ThrowsLateOutsideReact = {
  render: () => (
    <Afterwards act={() => void Promise.reject(new Error('nobody waits for this promise'))} />
  ),
};

export const PlayAssertionFails = { render: () => <p>before</p>, play: assertWhatIsNotThere };

export const PlayFailsQuietly = {
  parameters: { throwPlayFunctionExceptions: false },
  render: () => <p>before</p>,
  play: assertWhatIsNotThere,
};

export const PlayStepFails = {
  render: () => <p>before</p>,
  play: async (context) => {
    await context.step('the reader clicks', () => assertWhatIsNotThere(context));
  },
};

export const PlaySucceeds = {
  render: () => <p>before</p>,
  play: async ({ canvasElement }) => {
    await expect(within(canvasElement).getByText('before')).toBeVisible();
  },
};

export const PlayNeverResolves = { render: () => <p>before</p>, play: () => new Promise(() => {}) };

export const LoaderNeverResolves = {
  loaders: [() => new Promise(() => {})],
  render: () => <p>never seen</p>,
};
