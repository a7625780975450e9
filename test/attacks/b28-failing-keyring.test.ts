import { expect, test } from 'vitest';
import { createServerIdentity } from '../../electron/built-in-service/certificate.ts';
import type { Outcome } from '../../electron/contract/errors.ts';
import { value } from '../support/audit-folder.ts';
import { acme, makeHome, type HomeApp } from '../support/edited-home.ts';
import { failAt, saysNothing, type Fault } from '../support/failing-keyring.ts';
import { obscured } from '../support/whole-app.ts';

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

const breaks: Fault = () => Promise.reject(new Error('The bus timed out'));
const doesAndBreaks: Fault = async (run) => {
  await run();
  throw new Error('The bus timed out');
};
const { caPem } = await createServerIdentity();

interface Act {
  readonly ready?: (app: HomeApp, id: string) => Promise<Outcome<unknown>>;
  readonly run: (app: HomeApp, id: string) => Promise<Outcome<unknown>>;
  /** What stops the connection once the act has succeeded. */
  readonly after: string;
}
const save = (changes: object) => (app: HomeApp, id: string) =>
  app.ask('connections.save', { ...acme, id, ...changes });
const acts: Readonly<Record<string, Act>> = {
  'a save of other limits': { run: save({ requestsPerSecond: 7 }), after: reached },
  'a save without the authority': { ready: save({ extraCa: caPem }), run: save({}), after: reached },
  'a save with an authority': { run: save({ extraCa: caPem }), after: 'credentials.missing' },
  'an API key that is entered': {
    run: (app, id) =>
      app.ask('connections.storeSecret', { id, secret: { kind: 'apiKey' }, value: obscured('another') }),
    after: reached,
  },
  'an undo of a removal': {
    ready: (app, id) => app.ask('connections.remove', { id }),
    run: (app, id) => app.ask('connections.undoRemove', { id }),
    after: reached,
  },
};
/** Not every call, of over a hundred in all: with 1 in its place this took three minutes, and found no other. */
const step = 9;
const table = Object.entries(acts).flatMap(([name, act]) =>
  [breaks, doesAndBreaks, saysNothing].map((fault, from) => ({ name, act, fault, from, how: fault.name })),
);

test.each(table)(
  '$name, whichever call of the keyring $how: what is said is so, and nobody is accused',
  async ({ act: { ready, run, after }, fault, from }) => {
    const { id, open, keyring, lines, enterSecrets } = await makeHome();
    for (let number = from; ; number += step) {
      const app = await open();
      if (ready !== undefined) {
        value(await ready(app, id));
        if ((await app.view()) !== undefined) await enterSecrets(app);
      }
      const { restore } = failAt(keyring, number, fault);
      const said = await run(app, id);
      const happened = restore();
      const about = `call ${number}: ${said.ok ? 'ok' : said.failure.code}`;
      // Whatever failed, the same act done again succeeds.
      if (!said.ok) value(await run(app, id));
      await app.close();
      const next = await open();
      expect([about, await next.use(), lines('ChangedOutside')]).toEqual([about, after, 0]);
      if (!happened) return;
      value(await next.ask('connections.save', { ...acme, id, requestsPerSecond: 600 + number }));
      await enterSecrets(next);
      await next.close();
    }
  },
);
