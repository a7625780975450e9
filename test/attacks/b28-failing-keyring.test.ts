import { expect, test } from 'vitest';
import { makeHome } from '../support/edited-home.ts';
import { failAt, saysNothing } from '../support/failing-keyring.ts';

/** What stops a connection whose secrets are there: the address answers nobody. */
const reached = 'service.unreachable';

test('a keyring that once says "nothing" to any reading costs no secret', async () => {
  const { open, keyring, stored, lines } = await makeHome();
  for (let number = 0; ; number++) {
    const { restore } = failAt(keyring, number, saysNothing, 'getPassword');
    const app = await open();
    await app.use();
    await app.close();
    const wasSaid = restore();
    const next = await open();
    expect([number, await next.use(), stored(), lines('ChangedOutside')]).toEqual([number, reached, 2, 0]);
    await next.close();
    if (wasSaid) continue;
    expect(number).toBeGreaterThan(10);
    return;
  }
});
