/** A trigger of the application on its contacts, or on another table. */
export const trigger = (
  when: string,
  body: string,
  { name = "zzz", on = "salesforce.contact", level = "ROW" } = {},
): string => `
  CREATE FUNCTION public."${name}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN coalesce(NEW, OLD); END $$;
  CREATE TRIGGER "${name}" ${when} ON ${on} FOR EACH ${level} EXECUTE FUNCTION public."${name}"()`;

/** Writes to the row that fires the trigger, three times at most. */
export const numbered =
  "UPDATE salesforce.contact SET title = title || '+' WHERE id = NEW.id AND title NOT LIKE '%+++'";
const resets =
  "IF NEW.title <> OLD.title THEN UPDATE salesforce.contact SET title = OLD.title WHERE id = NEW.id AND pg_trigger_depth() < 2; END IF";
const references = (column: string, to: string, action: string) =>
  `ALTER TABLE salesforce.contact ADD FOREIGN KEY (${column}) REFERENCES ${to} ON DELETE ${action}`;

/** What an application has made, and what it then does. */
interface Case {
  readonly given: readonly string[];
  /** Each is a message of its own; several statements in one are one transaction. */
  readonly when: readonly string[];
}

/** Each must be logged in the order of causes. A name of `A` sorts before those of foreign keys, `RI_…`, and before ours. */
export const CASES: Readonly<Record<string, Case>> = {
  "a foreign key's CASCADE, and a write to the row before it or after it": {
    given: [
      references("company", "public.company", "CASCADE"),
      trigger("AFTER DELETE", "UPDATE salesforce.contact SET title = title || OLD.id WHERE company = 3 - OLD.id", {
        name: "A",
        on: "public.company",
      }),
    ],
    when: ["DELETE FROM public.company WHERE id < 3"],
  },
  "a foreign key's SET NULL, and a trigger that follows it": {
    given: [
      references("company", "public.company", "SET NULL"),
      trigger("BEFORE UPDATE", "IF NEW.company IS NULL AND OLD.company > 0 THEN NEW.title := 'alone'; END IF", {
        name: "set",
      }),
      trigger("AFTER UPDATE", numbered),
    ],
    when: ["DELETE FROM public.company WHERE id < 3"],
  },
  "a foreign key to the table itself, and rows that come again": {
    given: [
      references("boss", "salesforce.contact", "CASCADE"),
      trigger(
        "AFTER DELETE",
        "INSERT INTO salesforce.contact (id, lastname, title) VALUES (OLD.id, 'Again', 'again')",
        { name: "A" },
      ),
    ],
    when: ["DELETE FROM salesforce.contact WHERE id = 1"],
  },
  "a trigger that takes the change back": {
    given: [trigger("AFTER UPDATE", resets)],
    when: ["UPDATE salesforce.contact SET title = 'other'"],
  },
  "statements of one transaction with nested ones each": {
    given: [trigger("AFTER INSERT OR UPDATE", numbered)],
    when: [
      "BEGIN",
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', '')",
      "UPDATE salesforce.contact SET title = '' WHERE id > 3",
      "DELETE FROM salesforce.contact WHERE id = 5",
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'x')",
      "UPDATE salesforce.contact SET title = '', email = 'e' WHERE id = 5",
      "COMMIT",
    ],
  },
  "a savepoint that is rolled back": {
    given: [trigger("AFTER INSERT OR UPDATE", numbered)],
    when: [
      "BEGIN",
      "UPDATE salesforce.contact SET title = '' WHERE id < 3",
      "SAVEPOINT here",
      "UPDATE salesforce.contact SET title = 'gone'",
      "ROLLBACK TO here",
      "UPDATE salesforce.contact SET title = '' WHERE id > 1",
      "COMMIT",
    ],
  },
  "a statement that fails within a trigger": {
    given: [
      trigger(
        "AFTER UPDATE",
        `BEGIN UPDATE salesforce.contact SET id = 1 WHERE id = 2 AND NEW.id = 2; EXCEPTION WHEN unique_violation THEN
        UPDATE salesforce.contact SET email = 'caught' WHERE id = NEW.id AND email IS NULL; END`,
      ),
    ],
    when: ["UPDATE salesforce.contact SET title = 'x'"],
  },
  "functions that a statement calls": {
    given: [
      `CREATE FUNCTION public.number(bigint) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
         UPDATE salesforce.contact SET title = title || 'a' WHERE id = $1;
         UPDATE salesforce.contact SET title = title || 'b' WHERE id = $1;
         RETURN 'numbered'; END $$`,
    ],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', ''), (6, 'Meitner', '') RETURNING public.number(id)",
      "UPDATE salesforce.contact SET title = 'x' RETURNING public.number(id)",
      "WITH one AS (UPDATE salesforce.contact SET title = 'y' RETURNING id) SELECT public.number(id) FROM one ORDER BY id",
    ],
  },
  "a trigger that makes room for a new row": {
    given: [trigger("BEFORE INSERT", "DELETE FROM salesforce.contact WHERE id = NEW.id")],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (4, 'Ride', 'first'), (5, 'Franklin', ''), (1, 'Meitner', '')",
    ],
  },
  "a row that its own trigger deletes": {
    given: [
      trigger("AFTER INSERT OR UPDATE", "DELETE FROM salesforce.contact WHERE id = NEW.id AND NEW.title = 'away'"),
    ],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'away'), (6, 'Meitner', 'here')",
      "UPDATE salesforce.contact SET title = 'away' WHERE id < 3",
    ],
  },
  "writes by the trigger of a table that is not mapped, before a statement": {
    given: [
      trigger("AFTER UPDATE", "UPDATE salesforce.contact SET title = NEW.name WHERE company = NEW.id", {
        on: "public.company",
      }),
    ],
    when: [
      "BEGIN",
      "UPDATE public.company SET name = upper(name)",
      "UPDATE salesforce.contact SET title = 'later'",
      "UPDATE public.company SET name = lower(name)",
      "DELETE FROM salesforce.contact WHERE id = 2",
      "COMMIT",
    ],
  },
  "a trigger that catches its error": {
    given: [
      trigger(
        "AFTER INSERT OR UPDATE",
        `BEGIN ${numbered}; PERFORM 1 / (length(NEW.title) % 2); EXCEPTION WHEN division_by_zero THEN
        UPDATE salesforce.contact SET email = 'caught' WHERE id = NEW.id AND email IS NULL; END`,
      ),
    ],
    when: [
      "UPDATE salesforce.contact SET title = CASE WHEN id < 3 THEN 'a' ELSE 'ab' END",
      "INSERT INTO salesforce.contact (lastname, title, id) VALUES ('Franklin', 'ab', 5), ('Meitner', 'abc', 6)",
    ],
  },
  "a trigger that leaves one row the first": {
    given: [
      trigger(
        "BEFORE INSERT OR UPDATE",
        "UPDATE salesforce.contact SET title = 'other' WHERE title = 'first' AND id <> NEW.id AND NEW.title = 'first'",
      ),
    ],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'first'), (6, 'Meitner', 'first')",
    ],
  },
};
