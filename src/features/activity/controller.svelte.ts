import type { Desk } from '../../desk.svelte.ts';

export class ActivityController {
  readonly desk: Desk;
  constructor(desk: Desk) {
    this.desk = desk;
  }
}
