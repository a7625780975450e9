/*
 * Whoever works with the keys, or listens, is where the focus is. When the element that has it goes or is switched off,
 * the browser gives it to the page's body: the next key then does nothing, and a screen reader begins at the top. Pages
 * say with the attribute `data-next` where the focus goes instead. It never goes to a control that is not marked.
 */

const isOff = (element: Element): boolean => element.matches(':disabled');

/** How many elements around one that is switched off are near it. */
const near = 4;

/** What is marked last in the first of these places that has one. */
function markedIn(places: readonly ParentNode[]): HTMLElement | null {
  for (const place of places) {
    const marked = [...place.querySelectorAll<HTMLElement>('[data-next]')].filter(
      (one) => !isOff(one) && one.checkVisibility(),
    );
    if (marked.length > 0) return marked.at(-1) ?? null;
  }
  return null;
}

const heading = (): HTMLElement | null =>
  document.querySelector<HTMLElement>('main h1') ?? document.querySelector<HTMLElement>('main');

function ancestorsOf(element: Element): Element[] {
  const all: Element[] = [];
  for (let one = element.parentElement; one !== null && one !== document.body; one = one.parentElement)
    all.push(one);
  return all;
}

/** Keeps the focus on the page. Answers what ends it. */
export function keepFocus(): () => void {
  let last: HTMLElement | null = null;
  let ancestors: Element[] = [];
  /** The heading that has the focus until what comes next is there. */
  let heldBy: HTMLElement | null = null;
  let request = 0;

  const remember = ({ target }: FocusEvent): void => {
    if (!(target instanceof HTMLElement)) return;
    if (target !== heldBy) heldBy = null;
    last = target;
    ancestors = ancestorsOf(target);
  };
  /** A press beside all controls leaves them: that is the person's own choice. */
  const forget = ({ target }: PointerEvent): void => {
    heldBy = null;
    if (target instanceof Element && target.closest('button, a, input, textarea, [tabindex], label') === null)
      last = null;
  };

  /** One that was switched off has the focus for a moment still. */
  const isLost = (): boolean => {
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body) return last !== null;
    return activeElement === last && (isOff(last) || last === heldBy);
  };

  /** Null where the focus stays, or waits for what is off. */
  function nextPlace(from: HTMLElement): HTMLElement | null {
    if (from === heldBy && from.isConnected) return markedIn([document]);
    // Off for a moment only, as the field of a passphrase after a wrong one, where nothing is marked near it.
    if (from.isConnected && isOff(from)) return markedIn(ancestors.slice(0, near));
    if (from.isConnected && from.checkVisibility()) return from;
    const marked = markedIn([...ancestors.filter(({ isConnected }) => isConnected), document]);
    if (marked === null) heldBy = heading();
    return marked ?? heldBy;
  }

  function mend(): void {
    request = 0;
    if (last === null || !isLost()) return;
    const next = nextPlace(last);
    if (next === null) return;
    if (next.tabIndex < 0) next.tabIndex = -1;
    next.focus();
  }

  // Menus and dialogs give the focus back by themselves, in the same task or the one behind it: they come first.
  const observer = new MutationObserver(() => {
    if (request === 0 && isLost())
      request = requestAnimationFrame(() => (request = requestAnimationFrame(mend)));
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
  document.addEventListener('focusin', remember);
  document.addEventListener('pointerdown', forget);
  return () => {
    observer.disconnect();
    cancelAnimationFrame(request);
    document.removeEventListener('focusin', remember);
    document.removeEventListener('pointerdown', forget);
  };
}
