import { join } from 'node:path';
import { setPostVisit } from '@storybook/test-runner';

setPostVisit((page, { id }) =>
  page.screenshot({ path: join(process.env.BENCH_PICTURES, `${id}.png`) }),
);
