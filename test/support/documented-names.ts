import fs from 'node:fs';

/** Names that the administrator's guide lists for a person's folder; `…` in one stands for anything. */
export function documentedNames(): RegExp[] {
  const guide = fs.readFileSync(new URL('../../docs/administrators-guide.md', import.meta.url), 'utf8');
  const [, table = ''] = /^\| In it +\|.*\n\|[- |]+\n((?:\|.*\n)+)/m.exec(guide) ?? [];
  return table.split('\n').flatMap((row) => {
    const [, first = '', second = ''] = row.split('|');
    const names = [...(first.trim() === 'others' ? second : first).matchAll(/`([^`]+)`/g)];
    return names.map(([, name = '']) => new RegExp(`^${name.replace(/\/$/, '').replaceAll('…', '.*')}$`));
  });
}
