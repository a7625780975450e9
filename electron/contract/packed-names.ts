import type { Failure } from './errors.ts';
import type { Archive, Packed } from './models/packed.ts';

/** A file's name without the endings of what is around it. */
export const unpackedName = (name: string, { archive: kind, isEncrypted }: Packed): string => {
  const inner = isEncrypted ? name.replace(/\.(?:age|gpg|pgp|asc)$/i, '') : name;
  return kind === null ? inner : inner.replace(/\.(?:gz|gzip|zip)$/i, '');
};

/** What a file's ending becomes in an archive: `.csv.gz`, and `.zip` with a name inside that has the ending. */
export const packedEnding = (ending: string, kind: Archive | null | undefined): string =>
  kind === 'gzip' ? `${ending}.gz` : kind === 'zip' ? '.zip' : ending;

/** Whether a file that did not open waits for its passphrase. */
export const asksPassphrase = ({ code }: Pick<Failure, 'code'>): boolean =>
  code === 'file.passphrase-needed' || code === 'file.passphrase-wrong';
