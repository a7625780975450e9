import type { ElectronParts } from './electron-parts.ts';
import type { ShellClipboard } from './shell.ts';

const raw = (format: string): string => `electron application/osclipboard;format="${format}"`;
/** A DWORD of zero: "no". */
const no = (): Blob => new Blob([new Uint8Array(4)]);

/**
 * What tells each desktop to keep a copied value to itself. Windows: out of the clipboard history and the cloud
 * clipboard, and a hint to monitors (learn.microsoft.com, "Clipboard Formats"). macOS: concealed (nspasteboard.org).
 * KDE: Klipper does not record it; other Linux desktops ignore it.
 */
function exclusions(platform: NodeJS.Platform): Record<string, Blob> {
  switch (platform) {
    case 'win32':
      return {
        [raw('ExcludeClipboardContentFromMonitorProcessing')]: no(),
        [raw('CanIncludeInClipboardHistory')]: no(),
        [raw('CanUploadToCloudClipboard')]: no(),
      };
    case 'darwin':
      return { [raw('org.nspasteboard.ConcealedType')]: new Blob(['']) };
    case 'linux':
      return { [raw('x-kde-passwordManagerHint')]: new Blob(['secret']) };
    default:
      return {};
  }
}

/** The system clipboard; never `clipboard.selection`. Text and hints are written in one go, so no monitor sees the one without the other. */
export function electronClipboard(
  { clipboard, ClipboardItem }: Pick<ElectronParts, 'clipboard' | 'ClipboardItem'>,
  platform: NodeJS.Platform,
): ShellClipboard {
  return {
    write: (text) => clipboard.write([new ClipboardItem({ 'text/plain': text, ...exclusions(platform) })]),
    read: () => clipboard.readText(),
    clear() {
      clipboard.clear();
      return Promise.resolve();
    },
  };
}
