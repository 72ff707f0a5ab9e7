/** Storybook reads every parameter of a file at once, so that one of them takes all its stories along. */
export default {
  title: 'Hazards/Unloadable',
  render: () => <p>never seen</p>,
  parameters: {
    get trap() {
      throw new Error('a parameter that throws when it is read');
    },
  },
};

export const Bystander = {};
