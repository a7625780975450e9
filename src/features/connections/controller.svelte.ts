import type { Desk } from '../../desk.svelte.ts';

export class ConnectionsController {
  readonly desk: Desk;
  constructor(desk: Desk) {
    this.desk = desk;
  }
}
