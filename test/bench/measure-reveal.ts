import { join } from 'node:path';
import { missingTools, startKeyring } from '../support/private-keyring.ts';
import { median, type Figure, type Measure } from './figures.ts';
import { runPart } from './parts.ts';

const rounds = 5;
const services = [
  { name: 'a service 20 ms away', roundTripMs: 20, writesWaitedFor: 0, most: 1.1 },
  // Its answer is there before the keychain is done, which writes the log's anchor and the day's count one after the other.
  { name: 'the built-in service', roundTripMs: 0, writesWaitedFor: 2, most: 1.25 },
];

interface Measured {
  readonly masks: readonly number[];
  readonly reveals: readonly number[];
  readonly write: number;
}

/**
 * One value in clear, against its mask. A reveal anchors the audit log in the keychain and counts itself before the
 * value is given out: both beside the request, so that nobody waits for them where the service is not on this machine.
 */
export const measureReveal: Measure = async (folder) => {
  const missing = missingTools();
  if (missing.length > 0) {
    const note = `needs a keyring of its own: ${missing.join(', ')}`;
    return [{ name: 'revealed', value: null, unit: 'ms', note }];
  }
  const figures: Figure[] = [];
  for (const { name, roundTripMs, writesWaitedFor, most } of services) {
    const apps: Measured[] = [];
    for (let round = 0; round < rounds; round++) {
      const keyring = await startKeyring();
      try {
        Object.assign(process.env, keyring.env);
        apps.push(
          await runPart('reveal-latency.ts', join(folder, `${roundTripMs}-${round}`), `${roundTripMs}`),
        );
      } finally {
        await keyring.stop();
      }
    }
    const masks = apps.flatMap((app) => app.masks);
    const reveals = apps.flatMap((app) => app.reveals);
    const ratios = apps.map((app) =>
      app.reveals.map((reveal, at) => reveal / ((app.masks[at] ?? 0) + writesWaitedFor * app.write)),
    );
    const ratio = median(ratios.flat());
    const reference =
      writesWaitedFor === 0 ? 'the mask' : `the mask and ${writesWaitedFor} writes of the keychain`;
    figures.push(
      { name: `masked by ${name}`, value: median(masks), unit: 'ms' },
      {
        name: 'a write of the keychain by itself',
        value: median(apps.map(({ write }) => write)),
        unit: 'ms',
      },
      {
        name: `revealed by ${name}`,
        value: median(reveals),
        unit: 'ms',
        ratio,
        reference,
        bar: `<= ${most} of ${reference}`,
        holds: ratio <= most,
        note: ratios.map((round) => median(round).toFixed(2)).join(', '),
      },
    );
  }
  return figures;
};
