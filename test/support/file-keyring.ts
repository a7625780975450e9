import fs from 'node:fs';
import { fakeKeyring, type FakeKeyring } from './fake-keyring.ts';

/** A keyring that outlives the process, as the system's does. Its writes are none of the app's changes to the disk. */
export function fileKeyring(file: string): FakeKeyring {
  const { writeFileSync, renameSync } = fs;
  const keyring = fakeKeyring(
    fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, string>) : {},
  );
  for (const name of ['setPassword', 'deletePassword'] as const) {
    const change = keyring[name].bind(keyring) as (...given: string[]) => Promise<unknown>;
    Object.assign(keyring, {
      [name]: async (...given: string[]) => {
        const answer = await change(...given);
        // A process that is killed meanwhile leaves the one before.
        writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(keyring.entries)));
        renameSync(`${file}.new`, file);
        return answer;
      },
    });
  }
  return keyring;
}
