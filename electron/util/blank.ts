/** Whether a cell or a text holds nothing to act on. The one definition: what is blank is counted so, and never sent. */
export const isBlank = (text: string): boolean => text.trim() === '';
