import type { Catalog, ChildRelationship } from "./catalog.ts";
import type { Field, PicklistValue } from "./field.ts";
import { isNumeric } from "./field.ts";
import { traitsOf } from "./field-type.ts";
import type { RecordType, SObject } from "./sobject.ts";

/** One entry of describeGlobal, with every key (salesforce-facts 2.2). */
export function describeBriefly(object: SObject, version: string) {
  const sobject = `/services/data/v${version}/sobjects/${object.name}`;
  return {
    activateable: false,
    associateEntityType: null,
    associateParentEntity: null,
    createable: object.createable,
    custom: object.custom,
    customSetting: false,
    deepCloneable: false,
    deletable: object.deletable,
    deprecatedAndHidden: false,
    feedEnabled: false,
    hasSubtypes: false,
    isInterface: false,
    isSubtype: false,
    keyPrefix: object.keyPrefix,
    label: object.label,
    labelPlural: object.labelPlural,
    layoutable: true,
    mergeable: object.mergeable,
    mruEnabled: true,
    name: object.name,
    queryable: true,
    replicateable: object.replicateable,
    retrieveable: true,
    searchable: object.searchable,
    triggerable: true,
    undeletable: object.undeletable,
    updateable: object.updateable,
    urls: { rowTemplate: `${sobject}/{ID}`, describe: `${sobject}/describe`, sobject },
  };
}

/** The full describe of an object, with every key (salesforce-facts 2.3). */
export function describe(catalog: Catalog, object: SObject, version: string) {
  const brief = describeBriefly(object, version);
  return {
    actionOverrides: [],
    ...brief,
    childRelationships: catalog.childRelationships(object).map(describeChild),
    compactLayoutable: true,
    defaultImplementation: null,
    extendedBy: null,
    extendsInterfaces: null,
    fields: object.fields.map(describeField),
    implementedBy: null,
    implementsInterfaces: null,
    listviewable: null,
    lookupLayoutable: null,
    namedLayoutInfos: [],
    networkScopeFieldName: null,
    recordTypeInfos: object.recordTypes.map((type) => describeRecordType(type, brief.urls.sobject)),
    searchLayoutable: true,
    sobjectDescribeOption: "FULL",
    supportedScopes: [{ label: `All ${object.labelPlural.toLowerCase()}`, name: "everything" }],
    urls: { ...brief.urls, layouts: `${brief.urls.sobject}/describe/layouts` },
  };
}

function describeChild({ child, field, name }: ChildRelationship) {
  return {
    cascadeDelete: field.cascadeDelete,
    childSObject: child.name,
    deprecatedAndHidden: false,
    field: field.name,
    junctionIdListNames: [],
    junctionReferenceTo: [],
    relationshipName: name,
    restrictedDelete: field.restrictedDelete,
  };
}

function describeRecordType(type: RecordType, sobjectUrl: string) {
  return {
    active: type.active,
    available: true,
    defaultRecordTypeMapping: type.isDefault,
    developerName: type.developerName,
    master: type.isMaster,
    name: type.name,
    recordTypeId: type.id,
    urls: { layout: `${sobjectUrl}/describe/layouts/${type.id}` },
  };
}

function describeField(field: Field) {
  const { soap: soapType } = traitsOf(field.type);
  const isText = soapType === "xsd:string";
  // A lookup may take its records along, too, as Account does with contacts; that is the relationship's property.
  const isMasterDetail = field.cascadeDelete && !field.nillable;
  return {
    aggregatable: field.filterable && field.type !== "boolean",
    aiPredictionField: false,
    autoNumber: field.autoNumberFormat !== null,
    byteLength: isText ? field.length * 3 : field.length,
    calculated: field.formula !== null || field.rollup !== null,
    calculatedFormula: field.custom ? field.formula : null,
    cascadeDelete: isMasterDetail,
    caseSensitive: field.caseSensitive,
    compoundFieldName: field.compoundFieldName,
    controllerName: null,
    createable: field.createable,
    custom: field.custom,
    defaultValue: field.defaultValue,
    defaultValueFormula: null,
    defaultedOnCreate: field.defaultedOnCreate,
    dependentPicklist: false,
    deprecatedAndHidden: false,
    digits: field.type === "int" ? 9 : 0,
    displayLocationInDecimal: false,
    encrypted: field.type === "encryptedstring",
    externalId: field.externalId,
    extraTypeInfo: field.extraTypeInfo,
    filterable: field.filterable,
    filteredLookupInfo: null,
    formulaTreatNullNumberAsZero: field.formula !== null && isNumeric(field),
    groupable: field.groupable,
    highScaleNumber: false,
    htmlFormatted: false,
    idLookup: field.idLookup,
    inlineHelpText: null,
    label: field.label,
    length: field.length,
    mask: null,
    maskType: null,
    name: field.name,
    nameField: field.nameField,
    namePointing: field.referenceTo.length > 1,
    nillable: field.nillable,
    permissionable: field.custom,
    picklistValues: field.picklist.map(describePicklistValue),
    polymorphicForeignKey: field.referenceTo.length > 1,
    precision: field.precision,
    queryByDistance: false,
    referenceTargetField: null,
    referenceTo: field.referenceTo,
    relationshipName: field.relationshipName,
    relationshipOrder: isMasterDetail ? 0 : null,
    restrictedDelete: field.restrictedDelete,
    restrictedPicklist: field.restrictedPicklist,
    scale: field.scale,
    searchPrefilterable: field.type === "reference",
    soapType,
    sortable: field.sortable,
    type: field.type,
    unique: field.unique,
    updateable: field.updateable,
    writeRequiresMasterRead: false,
  };
}

function describePicklistValue(entry: PicklistValue) {
  return {
    active: entry.active,
    defaultValue: entry.isDefault,
    label: entry.label,
    validFor: null,
    value: entry.value,
  };
}
