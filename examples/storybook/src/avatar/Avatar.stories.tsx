import type { Meta, StoryObj } from '@storybook/react-vite';

import { Avatar, AvatarGroup } from './Avatar';

const meta = {
  title: 'Folio/Avatar',
  component: Avatar,
  args: { name: 'Ada Ridley' },
} satisfies Meta<typeof Avatar>;

export default meta;
type Story = StoryObj<typeof meta>;

const readers = ['Ada Ridley', 'Bo Castell', 'Cleo Marsh', 'Dario Pine', 'Edda Voss', 'Finn Ashe'];

export const Initials: Story = {};

export const Portrait: Story = { args: { portrait: true, size: 64 } };

export const Presence: Story = {
  render: () => (
    <span className="avatar-row">
      <Avatar name="Ada Ridley" presence="here" />
      <Avatar name="Cleo Marsh" presence="away" portrait />
    </span>
  ),
};

export const Sizes: Story = {
  render: (args) => (
    <span className="avatar-row">
      {[24, 32, 44, 64, 88].map((size) => (
        <Avatar key={size} {...args} size={size} />
      ))}
    </span>
  ),
};

/** With `STORYBOOK_SHELF_BROKEN=1` the list is forgotten, as happens to the best of us. */
export const Group: Story = {
  render: () => {
    const forgotten = import.meta.env.STORYBOOK_SHELF_BROKEN === '1';
    return <AvatarGroup readers={forgotten ? (undefined as unknown as string[]) : readers} />;
  },
};
