/** Whether a cell or a text holds nothing to act on. The one definition: what is blank is counted so, and never sent. */
export function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  // A sign of ASCII is no blank: most texts begin with one.
  return !(first > 0x20 && first < 0x7f) && text.trim() === '';
}
