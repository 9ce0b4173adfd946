import { recordId } from "../ids.ts";
import { makeSObject, type RecordType, type SObject } from "./sobject.ts";

const MASTER: Omit<RecordType, "isDefault"> = {
  id: "012000000000000AAA",
  name: "Master",
  developerName: "Master",
  isMaster: true,
  active: true,
};

/** The objects with ids for their record types, the same at every start, and with the master type that every object has. */
export function withRecordTypeIds(objects: readonly SObject[]): SObject[] {
  let serial = 0;
  return objects.map((object) => {
    const own = object.recordTypes
      .filter((type) => !type.isMaster)
      .map((type) => ({ ...type, id: recordId("012", ++serial) }));
    const hasDefault = own.some((type) => type.isDefault);
    return makeSObject({ ...object, recordTypes: [...own, { ...MASTER, isDefault: !hasDefault }] });
  });
}
