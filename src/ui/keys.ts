const isMac = navigator.platform.startsWith('Mac');

/** Keys as this system's keyboards name them: `Ctrl K` is `⌘ K` on macOS. */
export function formatKeys(keys: string, mac = isMac): string {
  if (!mac) return keys;
  return keys
    .replaceAll(/\bCtrl\b/g, '⌘')
    .replaceAll(/\bShift\b/g, '⇧')
    .replaceAll(/\bAlt\b/g, '⌥');
}
