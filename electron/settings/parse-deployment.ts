import { done, failed, type Outcome } from '../contract/errors.ts';
import { deployment, type CarriedProfile, type Deployment } from '../contract/models/deployment.ts';
import { maxProfileBytes, readProfile } from '../service/profile.ts';

/**
 * A file of connections, from a person or the administrator. Failure: import.invalid; `subject` names the first member
 * that does not fit, never its value.
 */
export function parseDeployment(bytes: Uint8Array): Outcome<Deployment> {
  const read = readJson(bytes);
  return read === null
    ? failed('import.invalid', { subject: 'it is not JSON' })
    : checkDeployment(read.value);
}

/** Null where it is not JSON in UTF-8. */
export function readJson(bytes: Uint8Array): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return null;
  }
}

/** The same of what was read. */
export function checkDeployment(value: unknown): Outcome<Deployment> {
  const checked = deployment.safeParse(value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const unknown = issue?.code === 'unrecognized_keys' ? [issue.keys[0] ?? ''] : [];
    const place = [...(issue?.path ?? []), ...unknown].join('.');
    return failed('import.invalid', { subject: place.slice(0, 300) || 'it is no file of connections' });
  }
  const names = checked.data.connections.map(({ name }) => name.toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return failed('import.invalid', { subject: `two of ${twice}` });
  const wrong = checked.data.connections.flatMap(({ profile }, position) =>
    profile === undefined ? [] : wrongProfile(profile).map((where) => `connections.${position}.${where}`),
  );
  return wrong[0] === undefined
    ? done(checked.data)
    : failed('import.invalid', { subject: wrong[0].slice(0, 300) });
}

/** Whether it goes with the workstation's shared profile is checked where it is put into place. */
function wrongProfile({ content, fitted }: CarriedProfile): string[] {
  const text = JSON.stringify(content ?? { version: 1 });
  if (Buffer.byteLength(text) > maxProfileBytes) return ['profile'];
  const read = readProfile(text, { fitted });
  return read.ok ? [] : [read.failure.subject ?? 'profile'];
}
