import { join } from 'node:path';
import { missingTools, startKeyring } from '../support/private-keyring.ts';
import { median, type Figure, type Measure } from './figures.ts';
import { runPart } from './parts.ts';

const rounds = 5;
const services = [
  { name: 'a service 20 ms away', roundTripMs: 20, maxBeyondMask: 2 },
  // A frame: the answer is there before the keychain, which writes and syncs a file of its own, is done.
  { name: 'the built-in service', roundTripMs: 0, maxBeyondMask: 17 },
];

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
  for (const { name, roundTripMs, maxBeyondMask } of services) {
    const apps: { mask: number; reveal: number }[] = [];
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
    const mask = median(apps.map((app) => app.mask));
    const reveal = median(apps.map((app) => app.reveal));
    figures.push(
      { name: `masked by ${name}`, value: mask, unit: 'ms' },
      {
        name: `revealed by ${name}`,
        value: reveal,
        unit: 'ms',
        ratio: reveal / mask,
        reference: `masked by ${name}`,
        bar: `<= ${maxBeyondMask} ms beyond the mask`,
        holds: reveal - mask <= maxBeyondMask,
      },
    );
  }
  return figures;
};
