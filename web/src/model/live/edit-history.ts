// What was done and can be undone.

export class EditHistory<State> {
  private past: State[] = [];
  private future: State[] = [];

  constructor(
    private present: State,
    private readonly most = 200, // that can be undone
  ) {}

  get now(): State {
    return this.present;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  /** A new state; what was undone before cannot be redone any more. `same`: one drag is one edit,
   * however many places it passes. */
  do(state: State, same = false): void {
    if (!same) this.past.push(this.present);
    this.past = this.past.slice(-this.most);
    this.present = state;
    this.future = [];
  }

  undo(): State {
    const before = this.past.pop();
    if (before !== undefined) {
      this.future.push(this.present);
      this.present = before;
    }
    return this.present;
  }

  redo(): State {
    const next = this.future.pop();
    if (next !== undefined) {
      this.past.push(this.present);
      this.present = next;
    }
    return this.present;
  }
}
