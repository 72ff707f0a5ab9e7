import type { Decorator, Meta, StoryObj } from '@storybook/react-vite';
import caveatUrl from '@fontsource-variable/caveat/files/caveat-latin-wght-normal.woff2?url';
import { useLayoutEffect } from 'react';

import { Card } from './Card';

const meta = {
  title: 'Folio/Card',
  component: Card,
  args: {
    title: 'The Salt Atlas',
    author: 'Imre Valdez',
    blurb: 'Eleven harbours, one drowned map, and the woman who redraws the coast by memory.',
    facts: '312 pages · shelf 4B',
    cover: { hue: 205, motif: 'waves' },
  },
} satisfies Meta<typeof Card>;

export default meta;
type Story = StoryObj<typeof meta>;

/** Starts the download once the story stands, and takes the face away with the story. */
const loadTitleFaceLate: Decorator = (Story) => {
  useLayoutEffect(() => {
    const face = new FontFace('Caveat Late', `url(${caveatUrl})`, { weight: '400 700' });
    document.fonts.add(face);
    void face.load();
    return () => void document.fonts.delete(face);
  }, []);
  return <Story />;
};

export const Book: Story = {};

export const WithoutCover: Story = { args: { cover: undefined } };

export const LongTitle: Story = {
  args: {
    title: 'An Incomplete Account of the Lighthouse Keepers and Their Extraordinary Correspondence',
    author: 'Collected by the Society of Northern Letters',
    cover: { hue: 20, motif: 'tiles' },
  },
};

export const LateTitle: Story = {
  decorators: [loadTitleFaceLate],
  args: { titleFace: 'late', title: 'Night Ferry', cover: { hue: 262, motif: 'moon' } },
};

export const ByLamplight: Story = {
  globals: { theme: 'dark' },
  args: { title: 'Night Ferry', cover: { hue: 262, motif: 'moon' } },
};

export const Grid: Story = {
  render: (args) => (
    <div className="card-grid">
      <Card {...args} />
      <Card {...args} title="Night Ferry" author="Oona Birk" cover={{ hue: 262, motif: 'moon' }} />
      <Card {...args} title="Patterns" author="T. Okafor" cover={{ hue: 28, motif: 'tiles' }} />
      <Card {...args} title="Moss" author="Lin Hale" cover={{ hue: 140, motif: 'moon' }} />
    </div>
  ),
};
