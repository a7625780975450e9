/**
 * Draws text in clear. Each character is an inline block with a text node of its own, and the gaps between `shape`'s
 * groups are drawn: layout joins the text of whatever flows together into one string, and keeps it for a while. Only
 * the lengths of the groups count. Returns what empties the nodes and takes them away.
 */
export function paintCharacters(
  target: HTMLElement,
  characters: Iterator<string>,
  shape: readonly string[],
): () => void {
  const nodes: Text[] = [];
  for (const group of shape) {
    const line = document.createElement('span');
    for (let place = 0; place < group.length; place++) {
      const next = characters.next();
      if (next.done === true) break;
      const box = document.createElement(next.value === '\n' ? 'br' : 'span');
      if (next.value !== '\n') nodes.push(box.appendChild(document.createTextNode(next.value)));
      line.append(box);
    }
    target.append(line);
  }
  return () => {
    for (const node of nodes) node.data = '';
    target.replaceChildren();
  };
}
