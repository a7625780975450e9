/** Longer ones are not worth a line's length: it says that they changed. */
const maxValueLength = 100;

/**
 * What a change changes, from what to what, for the note of its line: `environment: production → test`. `before` is null
 * where there was nothing. Only for what holds no secret: settings and connections.
 */
export function describeChanges<T extends object>(before: T | null, after: T): string {
  const changes = Object.keys(after).flatMap((key) => {
    const name = key as keyof T & string;
    const to = describeValue(after[name]);
    const from = before === null ? null : describeValue(before[name]);
    if (from === to) return [];
    if (from === null) return to === '' ? [] : [`${name}: ${shorten(to)}`];
    const isLong = from.length > maxValueLength || to.length > maxValueLength;
    return [isLong ? `${name}: changed` : `${name}: ${from || 'none'} → ${to || 'none'}`];
  });
  return changes.length === 0 ? 'nothing changed' : changes.join('; ');
}

const shorten = (text: string): string => (text.length > maxValueLength ? 'set' : text);

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(describeValue).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
