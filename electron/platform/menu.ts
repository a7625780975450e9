import type { MenuItemConstructorOptions, WebContents } from 'electron';
import { commands, pageKeys, type MenuCommand } from '../contract/commands.ts';
import type { AppCommand } from '../contract/models/app.ts';
import { pages } from '../contract/pages.ts';
import type { ElectronModules } from './electron-modules.ts';

/**
 * The application's menu. Electron's own has Reload, Toggle Developer Tools and links to the web. On Windows and Linux it
 * is hidden until Alt is pressed. `command` is called for what the window itself does; there its keys are only shown,
 * since the page handles them. On macOS the menu takes them.
 */
export function setMenu(
  { Menu }: Pick<ElectronModules, 'Menu'>,
  os: NodeJS.Platform,
  command: (command: AppCommand) => void,
): void {
  const isMac = os === 'darwin';
  const item = (name: AppCommand, label: string, keys: string): MenuItemConstructorOptions => ({
    label,
    accelerator: keys.replace('Ctrl', 'CommandOrControl').replaceAll(' ', '+'),
    registerAccelerator: false,
    click: () => {
      command(name);
    },
  });
  const commandItem = (name: MenuCommand): MenuItemConstructorOptions =>
    item(name, commands[name].menu, commands[name].keys[0]);
  const app: MenuItemConstructorOptions[] = [
    commandItem('openFile'),
    commandItem('inventory'),
    commandItem('compare'),
    { type: 'separator' },
    commandItem('palette'),
    commandItem('lock'),
    ...(isMac ? [] : [commandItem('preferences')]),
    { type: 'separator' },
    isMac ? { role: 'close' } : { role: 'quit' },
  ];
  // Electron's own has no Settings.
  const macApp: MenuItemConstructorOptions[] = [
    { role: 'about' },
    { type: 'separator' },
    commandItem('preferences'),
    { type: 'separator' },
    { role: 'services' },
    { type: 'separator' },
    { role: 'hide' },
    { role: 'hideOthers' },
    { role: 'unhide' },
    { type: 'separator' },
    { role: 'quit' },
  ];
  const template: MenuItemConstructorOptions[] = [
    ...(isMac ? [{ label: 'Tokendesk', submenu: macApp }] : []),
    { label: 'File', submenu: app },
    { role: 'editMenu' },
    {
      label: 'View',
      submenu: [
        ...pages.map(({ id, label }, index) => item(id, label, pageKeys(index))),
        { type: 'separator' },
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        // The key without Shift, which on many keyboards is not the one above.
        {
          role: 'zoomIn',
          accelerator: 'CommandOrControl+=',
          visible: false,
          acceleratorWorksWhenHidden: true,
        },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
    { role: 'help', submenu: [commandItem('guide'), commandItem('help')] },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}

/** In fields: cut, copy, paste, select all; elsewhere copy, where text is chosen. Chromium's own has more, Electron none. */
export function showContextMenus({ Menu }: Pick<ElectronModules, 'Menu'>, contents: WebContents): void {
  contents.on('context-menu', (_event, { isEditable, selectionText, editFlags }) => {
    const { canCut, canCopy, canPaste, canSelectAll } = editFlags;
    const template: MenuItemConstructorOptions[] = isEditable
      ? [
          { role: 'cut', enabled: canCut },
          { role: 'copy', enabled: canCopy },
          { role: 'paste', enabled: canPaste },
          { type: 'separator' },
          { role: 'selectAll', enabled: canSelectAll },
        ]
      : selectionText.trim() === ''
        ? []
        : [{ role: 'copy', enabled: canCopy }];
    if (template.length > 0) Menu.buildFromTemplate(template).popup();
  });
}
