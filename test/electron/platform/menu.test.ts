import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';
import { describe, expect, test } from 'vitest';
import { appCommand, type AppCommand } from '../../../electron/contract/models/app.ts';
import { pages } from '../../../electron/contract/pages.ts';
import type { ElectronModules } from '../../../electron/platform/electron-modules.ts';
import { setMenu, showContextMenus } from '../../../electron/platform/menu.ts';

type Item = Electron.MenuItemConstructorOptions;

/** Electron's menus, of which only the templates are looked at. */
function menus() {
  const seen = { application: [] as Item[], shown: [] as Item[][] };
  const Menu = {
    buildFromTemplate: (template: Item[]) => ({ template, popup: () => seen.shown.push(template) }),
    setApplicationMenu: (menu: { template: Item[] }) => (seen.application = menu.template),
  };
  return { seen, electron: { Menu } as unknown as Pick<ElectronModules, 'Menu'> };
}

const allItems = (items: readonly Item[]): Item[] =>
  items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? allItems(item.submenu) : [])]);

describe.each(['win32', 'darwin', 'linux'] as const)('the application’s menu on %s', (os) => {
  const { seen, electron } = menus();
  const commands: AppCommand[] = [];
  setMenu(electron, os, (command) => commands.push(command));
  const items = allItems(seen.application);
  const roles = items.flatMap(({ role }) => role ?? []);

  test('has the shortcuts, and asks the window', () => {
    for (const { click } of items) (click as (() => void) | undefined)?.();
    expect([...commands].sort()).toEqual([...appCommand.options].sort());
    const own = items.filter(({ click }) => click !== undefined);
    const preferences = ['Settings…', 'CommandOrControl+,'];
    const isMac = os === 'darwin';
    expect(own.map(({ label, accelerator }) => [label, accelerator])).toEqual([
      // On macOS it is in the app's own menu, which is the first.
      ...(isMac ? [preferences] : []),
      ['Open…', 'CommandOrControl+O'],
      ['What is in these files…', 'CommandOrControl+I'],
      ['Compare files…', 'CommandOrControl+D'],
      ['Commands…', 'CommandOrControl+K'],
      ['Lock', 'CommandOrControl+L'],
      ...(isMac ? [] : [preferences]),
      ...pages.map(({ label }, index) => [label, `CommandOrControl+${index + 1}`]),
      ['User’s guide', 'F1'],
      ['Keyboard shortcuts', 'CommandOrControl+/'],
    ]);
    // Ctrl and a digit is one key: a tenth page would need another.
    expect(pages.length).toBeLessThan(10);
    // The page handles them, where the system lets it.
    expect(own.every(({ registerAccelerator }) => registerAccelerator === false)).toBe(true);
  });

  test('has no way to reload, to open developer tools or the web', () => {
    const mac = ['about', 'services', 'hide', 'hideOthers', 'unhide', 'quit', 'close'];
    const own = os === 'darwin' ? mac : ['quit'];
    const known = ['editMenu', 'resetZoom', 'zoomIn', 'zoomOut', 'togglefullscreen', 'windowMenu', 'help'];
    expect([...new Set(roles)].sort()).toEqual([...own, ...known].sort());
  });
});

describe('the menu at the pointer', () => {
  const editFlags = { canCut: true, canCopy: true, canPaste: false, canSelectAll: true };

  function shown(params: object): unknown {
    const { seen, electron } = menus();
    const contents = new EventEmitter();
    showContextMenus(electron, contents as unknown as Electron.WebContents);
    contents.emit('context-menu', {}, { isEditable: false, selectionText: '', editFlags, ...params });
    return seen.shown[0]?.map(({ role, enabled }) => [role, enabled]);
  }

  test('in a field has what can be done there', () => {
    expect(shown({ isEditable: true })).toEqual([
      ['cut', true],
      ['copy', true],
      ['paste', false],
      [undefined, undefined],
      ['selectAll', true],
    ]);
  });

  test('elsewhere copies the chosen text, and is none without any', () => {
    expect(shown({ selectionText: 'req-1' })).toEqual([['copy', true]]);
    expect(shown({ selectionText: ' ' })).toBeUndefined();
  });
});
