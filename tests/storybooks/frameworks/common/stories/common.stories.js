import { drawn } from './parts';
import { expect, userEvent, within } from './tools';

export default { title: 'Common/Endings', args: { text: 'as it comes' } };

const click = async ({ canvasElement }) => {
  await userEvent.click(within(canvasElement).getByRole('button'));
};

const clickAndExpect = (text) => async (context) => {
  await click(context);
  await expect(within(context.canvasElement).getByRole('button')).toHaveTextContent(text);
};

const untilNever = () => new Promise(() => {});

export const Static = { render: drawn.swatch };

export const WithArgs = { args: { text: 'by its args' }, render: drawn.label };

export const WithAnotherText = { args: { text: 'by its address' }, render: drawn.label };

export const PlayClicks = { render: drawn.counter, play: clickAndExpect('clicked 1') };

export const PlayFails = { render: drawn.counter, play: clickAndExpect('clicked 2') };

export const PlayFailsQuietly = {
  parameters: { throwPlayFunctionExceptions: false },
  render: drawn.counter,
  play: clickAndExpect('clicked 2'),
};

export const PlayStepFails = {
  render: drawn.counter,
  play: async (context) => {
    await context.step('the reader clicks', () => clickAndExpect('clicked 2')(context));
  },
};

export const PlayNeverEnds = { render: drawn.swatch, play: untilNever };

export const LoaderNeverEnds = { loaders: [untilNever], render: drawn.swatch };

export const ThrowsInRender = { render: drawn.faulty };

export const ThrowsInEffect = { render: drawn.faultyAfterwards };

export const ThrowsInLoader = {
  loaders: [
    async () => {
      throw new Error('the loader fault was not caught');
    },
  ],
  render: drawn.swatch,
};

export const LoadsData = {
  loaders: [async () => ({ text: 'by its loader' })],
  render: drawn.label,
};

export const RendersNothing = { render: drawn.nothing };

export const Entrance = { render: drawn.entrance };

/** What an entrance looks like once it is over. */
export const EntranceOver = { render: drawn.swatch };

export const Portal = { render: drawn.portal };

export const Narrow = {
  parameters: { storyshelf: { viewports: [320, 1200] } },
  render: drawn.swatch,
};

export const Modes = {
  parameters: {
    storyshelf: { modes: { light: {}, 'dark/narrow': { globals: { theme: 'dark' }, viewport: 320 } } },
  },
  render: drawn.swatch,
};

export const Disabled = { parameters: { chromatic: { disableSnapshot: true } }, render: drawn.swatch };
