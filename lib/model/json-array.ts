/** An array as the JSON that a store has written of it: whoever hands it on need not read it. */
export class JsonArray {
  /** `[{…},{…}]`, without spaces between. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
