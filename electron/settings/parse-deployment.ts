import { done, failed, type Outcome } from '../contract/errors.ts';
import { deployment, type Deployment } from '../contract/models/deployment.ts';

/**
 * A file of connections, from a person or the administrator. Failure: import.invalid; `subject` names the first member
 * that does not fit, never its value.
 */
export function parseDeployment(bytes: Uint8Array): Outcome<Deployment> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return failed('import.invalid', { subject: 'it is not JSON' });
  }
  const checked = deployment.safeParse(value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const unknown = issue?.code === 'unrecognized_keys' ? [issue.keys[0] ?? ''] : [];
    const place = [...(issue?.path ?? []), ...unknown].join('.');
    return failed('import.invalid', { subject: place.slice(0, 300) || 'it is no file of connections' });
  }
  const names = checked.data.connections.map(({ name }) => name.toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? done(checked.data) : failed('import.invalid', { subject: `two of ${twice}` });
}
