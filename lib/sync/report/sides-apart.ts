/** The database and DynamoDB are of different times, and a person decides how the mapping continues. */
export class SidesApart extends Error {
  readonly reason: "database_rewound" | "config_behind";

  constructor(reason: SidesApart["reason"], message: string) {
    super(message);
    this.name = "SidesApart";
    this.reason = reason;
  }
}
