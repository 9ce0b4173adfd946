/** An array as the JSON that a store has written of it, so that it can be passed on unread. */
export class JsonArray {
  /** `[{…},{…}]`, without spaces between. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
