import { done, failed } from '../../electron/contract/errors.ts';
import { createSecretsKey } from '../../electron/storage/secrets-key.ts';

const read = () => Promise.resolve(failed('credentials.missing'));
const nothing = () => Promise.resolve(done(null));

/** What a lock is opened with where no passphrase is set. */
export const noPassphrase = {
  isSet: { read: () => false, write: () => undefined },
  secrets: { settled: nothing, read, peek: () => 'missing' },
  key: createSecretsKey({
    keep: read,
    read,
    store: () => Promise.resolve(done('stored')),
    remove: nothing,
  }),
  attempts: { read: () => Promise.resolve({ wrong: 0, until: null }), write: nothing },
  forgetSecrets: nothing,
};
