import type { LookupController } from './lookup.svelte.ts';

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

/** Letters are keys wherever nothing is being typed; a digit starts the next token. */
export function lookupKeys(
  event: KeyboardEvent,
  controller: LookupController,
  field: HTMLInputElement | undefined,
): void {
  const control = event.ctrlKey || event.metaKey;
  if (control && event.shiftKey && event.key.toLowerCase() === 'c') {
    event.preventDefault();
    controller.toggle();
    return;
  }
  if (control && !event.shiftKey && event.key.toLowerCase() === 'f') {
    event.preventDefault();
    field?.select();
    return;
  }
  if (control || event.altKey || event.defaultPrevented || typing(event.target)) return;
  if (controller.strip !== null) return;
  if (event.target instanceof Element && event.target.closest('[role=listbox],[role=dialog]') !== null)
    return;
  const act: Record<string, () => unknown> = {
    r: () => {
      controller.toggle();
    },
    c: () => controller.copy('masked'),
    t: () => controller.copy('token'),
    x: () => {
      controller.open('translate');
    },
    ArrowUp: () => {
      controller.walk(1);
    },
    ArrowDown: () => {
      controller.walk(-1);
    },
  };
  const run = act[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (run !== undefined) {
    event.preventDefault();
    void run();
  } else if (/^\d$/.test(event.key)) field?.select();
}
