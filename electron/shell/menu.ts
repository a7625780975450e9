import type { ElectronParts } from './electron-parts.ts';

/**
 * Electron's own menu has Reload, Toggle Developer Tools and links to the web. macOS needs one for the keys of
 * copying and quitting; elsewhere the window has none.
 */
export function setMenu({ Menu }: Pick<ElectronParts, 'Menu'>, platform: NodeJS.Platform): void {
  Menu.setApplicationMenu(
    platform === 'darwin'
      ? Menu.buildFromTemplate([{ role: 'appMenu' }, { role: 'editMenu' }, { role: 'windowMenu' }])
      : null,
  );
}
