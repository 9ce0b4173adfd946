/** Attributes by name; null: the item has none of this name. */
export type Attributes = Readonly<Record<string, unknown>>;

/** The part of an update or a transaction that turns the attributes of `before` into those of `after`, as far as they differ. */
export function differenceOf(before: Attributes, after: Attributes) {
  const changed = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const set = changed.filter((name) => after[name] !== null);
  const remove = changed.filter((name) => after[name] === null);
  const clauses = [
    ...(set.length > 0 ? [`SET ${set.map((name) => `#${name} = :${name}`).join(", ")}`] : []),
    ...(remove.length > 0 ? [`REMOVE ${remove.map((name) => `#${name}`).join(", ")}`] : []),
  ];
  const values = Object.fromEntries(set.map((name) => [`:${name}`, after[name]]));
  return {
    UpdateExpression: clauses.join(" "),
    ExpressionAttributeNames: Object.fromEntries(changed.map((name) => [`#${name}`, name])),
    // DynamoDB refuses an empty map.
    ...(set.length > 0 ? { ExpressionAttributeValues: values } : {}),
  };
}

/** The part of an update that sets these attributes, null ones as NULL; its condition may name them, `:weight`. */
export function settingOf(attributes: Attributes) {
  const names = Object.keys(attributes);
  return {
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(", ")}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(names.map((name) => [`:${name}`, attributes[name]])),
  };
}

/** The attributes that there are. */
export function present(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
}
