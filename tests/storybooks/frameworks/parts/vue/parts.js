import { h, onMounted } from 'vue';

import Counter from './Counter.vue';
import Portal from './Portal.vue';

const swatch = (...names) => h('div', { class: ['swatch', ...names] });

const Faulty = {
  render() {
    throw new Error('the render fault was not caught');
  },
};

const FaultyAfterwards = {
  setup() {
    onMounted(() => {
      throw new Error('the effect fault was not caught');
    });
    return () => swatch();
  },
};

export const drawn = {
  swatch: () => () => swatch(),
  label: (args, { loaded }) => () => h('p', { class: 'marker' }, loaded?.text ?? args.text),
  counter: () => () => h(Counter),
  faulty: () => () => h(Faulty),
  faultyAfterwards: () => () => h(FaultyAfterwards),
  nothing: () => () => null,
  entrance: () => () => swatch('entering'),
  portal: () => () => h(Portal),
};
