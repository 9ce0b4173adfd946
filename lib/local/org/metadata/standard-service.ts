import { makeField } from "./field.ts";
import {
  activityDates,
  address,
  lookup,
  masterRecord,
  owner,
  personName,
  picklist,
  readOnly,
  systemFields,
  text,
  textArea,
} from "./field-kinds.ts";
import { makeSObject, type SObject } from "./sobject.ts";

const caseObject = makeSObject({
  name: "Case",
  keyPrefix: "500",
  mergeable: true,
  fields: [
    ...systemFields(),
    masterRecord("Case"),
    text("CaseNumber", 30, {
      nillable: false,
      nameField: true,
      autoNumberFormat: "{00000000}",
      createable: false,
      updateable: false,
      idLookup: true,
    }),
    lookup("ContactId", "Contact", "Cases"),
    lookup("AccountId", "Account", "Cases"),
    lookup("ParentId", "Case", "Cases"),
    text("SuppliedName", 80, { label: "Name" }),
    makeField("SuppliedEmail", "email", { label: "Email Address" }),
    text("SuppliedPhone", 40, { label: "Phone" }),
    text("SuppliedCompany", 80, { label: "Company" }),
    picklist("Type", ["Mechanical", "Electrical", "Electronic", "Structural", "Other"], { label: "Case Type" }),
    picklist("Status", ["*New", "Working", "Escalated", "Closed"], { defaultedOnCreate: true }),
    picklist(
      "Reason",
      ["Installation", "Equipment Complexity", "Performance", "Breakdown", "Equipment Design", "Feedback", "Other"],
      { label: "Case Reason" },
    ),
    picklist("Origin", ["Phone", "Email", "Web"], { label: "Case Origin" }),
    text("Subject", 255),
    picklist("Priority", ["High", "*Medium", "Low"]),
    textArea("Description", 32000),
    makeField("IsClosed", "boolean", { formula: 'ISPICKVAL(Status, "Closed")', label: "Closed" }),
    readOnly(makeField("ClosedDate", "datetime")),
    makeField("IsEscalated", "boolean", { label: "Escalated" }),
    owner(true),
    ...activityDates(),
  ],
});

const WHO = ["Contact", "Lead"];
const WHAT = ["Account", "Case", "Opportunity"];

const task = makeSObject({
  name: "Task",
  keyPrefix: "00T",
  fields: [
    ...systemFields(),
    lookup("WhoId", WHO, "Tasks", { label: "Name ID" }),
    lookup("WhatId", WHAT, "Tasks", { label: "Related To ID" }),
    makeField("Subject", "combobox", { nameField: true }),
    makeField("ActivityDate", "date", { label: "Due Date Only" }),
    picklist("Status", ["*Not Started", "In Progress", "Completed", "Waiting on someone else", "Deferred"], {
      nillable: false,
      defaultedOnCreate: true,
    }),
    picklist("Priority", ["High", "*Normal", "Low"], { nillable: false, defaultedOnCreate: true }),
    makeField("IsHighPriority", "boolean", { formula: 'ISPICKVAL(Priority, "High")' }),
    owner(true),
    textArea("Description", 32000),
    picklist("Type", ["Call", "Email", "Meeting", "Other"]),
    lookup("AccountId", "Account", null, { createable: false, updateable: false }),
    makeField("IsClosed", "boolean", { formula: 'ISPICKVAL(Status, "Completed")', label: "Closed" }),
    readOnly(makeField("IsArchived", "boolean", { label: "Archived" })),
    readOnly(makeField("CompletedDateTime", "datetime")),
    makeField("ReminderDateTime", "datetime"),
    makeField("IsReminderSet", "boolean"),
    picklist("TaskSubtype", ["*Task", "Email", "Call"], { updateable: false }),
  ],
});

const event = makeSObject({
  name: "Event",
  keyPrefix: "00U",
  fields: [
    ...systemFields(),
    lookup("WhoId", WHO, "Events", { label: "Name ID" }),
    lookup("WhatId", WHAT, "Events", { label: "Related To ID" }),
    makeField("Subject", "combobox", { nameField: true }),
    text("Location", 255),
    makeField("IsAllDayEvent", "boolean", { label: "All-Day Event" }),
    makeField("ActivityDateTime", "datetime", { label: "Due Date Time" }),
    makeField("StartDateTime", "datetime"),
    makeField("EndDateTime", "datetime"),
    makeField("DurationInMinutes", "int"),
    textArea("Description", 32000),
    owner(),
    makeField("IsPrivate", "boolean", { label: "Private" }),
    picklist("ShowAs", ["*Busy", "OutOfOffice", "Free"]),
    readOnly(makeField("IsArchived", "boolean", { label: "Archived" })),
  ],
});

const SETUP = {
  createable: false,
  updateable: false,
  deletable: false,
  undeletable: false,
  searchable: false,
} as const;
const ZONES = ["*GMT", "America/Los_Angeles", "America/New_York", "Europe/Berlin", "Europe/London", "Asia/Tokyo"];

const user = makeSObject({
  name: "User",
  keyPrefix: "005",
  deletable: false,
  undeletable: false,
  fields: [
    ...systemFields().filter((field) => field.name !== "IsDeleted"),
    text("Username", 80, { nillable: false, unique: true }),
    ...personName(),
    text("CompanyName", 80),
    text("Division", 80),
    text("Department", 80),
    text("Title", 80),
    ...address("", "Address"),
    makeField("Email", "email", { length: 128, nillable: false }),
    makeField("Phone", "phone"),
    makeField("MobilePhone", "phone"),
    text("Alias", 8, { nillable: false }),
    text("CommunityNickname", 40, { nillable: false, unique: true }),
    makeField("IsActive", "boolean", { defaultValue: true, label: "Active" }),
    picklist("TimeZoneSidKey", ZONES, { nillable: false, restrictedPicklist: true, defaultedOnCreate: true }),
    lookup("UserRoleId", "UserRole", "Users"),
    picklist("LocaleSidKey", ["*en_US", "en_GB", "de_DE", "fr_FR", "ja_JP"], {
      nillable: false,
      defaultedOnCreate: true,
    }),
    picklist("EmailEncodingKey", ["*UTF-8", "ISO-8859-1"], { nillable: false, defaultedOnCreate: true }),
    lookup("ProfileId", "Profile", "Users", { nillable: false }),
    picklist("UserType", ["*Standard", "PowerPartner", "Guest"], { createable: false, updateable: false }),
    picklist("LanguageLocaleKey", ["*en_US", "de", "fr", "ja"], { nillable: false, defaultedOnCreate: true }),
    text("EmployeeNumber", 20),
    lookup("ManagerId", "User", "ManagedUsers"),
    readOnly(makeField("LastLoginDate", "datetime")),
    text("FederationIdentifier", 512, { unique: true }),
    ...activityDates().slice(1),
  ],
});

const organization = makeSObject({
  name: "Organization",
  keyPrefix: "00D",
  ...SETUP,
  fields: [
    ...systemFields().filter((field) => field.name !== "IsDeleted"),
    text("Name", 80, { nillable: false, nameField: true }),
    text("Division", 80),
    ...address("", "Address"),
    makeField("Phone", "phone"),
    makeField("PrimaryContact", "string", { length: 80 }),
    picklist("DefaultLocaleSidKey", ["*en_US"]),
    picklist("TimeZoneSidKey", ZONES),
    picklist("LanguageLocaleKey", ["*en_US"]),
    picklist("OrganizationType", ["*Developer Edition", "Enterprise Edition", "Unlimited Edition"]),
    makeField("IsSandbox", "boolean"),
    text("InstanceName", 5),
    text("NamespacePrefix", 15),
    makeField("TrialExpirationDate", "datetime"),
    makeField("FiscalYearStartMonth", "int", { defaultValue: 1 }),
  ],
});

const profile = makeSObject({
  name: "Profile",
  keyPrefix: "00e",
  ...SETUP,
  fields: [
    ...systemFields().filter((field) => field.name !== "IsDeleted"),
    text("Name", 255, { nillable: false, nameField: true }),
    picklist("UserType", ["*Standard", "PowerPartner", "Guest"]),
    text("Description", 255),
  ],
});

const recordType = makeSObject({
  name: "RecordType",
  keyPrefix: "012",
  ...SETUP,
  fields: [
    ...systemFields().filter((field) => field.name !== "IsDeleted"),
    text("Name", 80, { nillable: false, nameField: true }),
    text("DeveloperName", 80, { nillable: false }),
    text("NamespacePrefix", 15),
    text("Description", 255),
    text("SobjectType", 255, { nillable: false }),
    makeField("IsActive", "boolean", { defaultValue: true }),
  ],
});

const userRole = makeSObject({
  name: "UserRole",
  keyPrefix: "00E",
  ...SETUP,
  fields: [
    ...systemFields().filter((field) => field.name !== "IsDeleted"),
    text("Name", 80, { nillable: false, nameField: true }),
    text("DeveloperName", 80),
    lookup("ParentRoleId", "UserRole", null),
  ],
});

const group = makeSObject({
  name: "Group",
  keyPrefix: "00G",
  undeletable: false,
  fields: [
    ...systemFields().filter((field) => field.name !== "IsDeleted"),
    text("Name", 40, { nillable: false, nameField: true }),
    text("DeveloperName", 80),
    picklist("Type", ["*Regular", "Queue"], { nillable: false, defaultedOnCreate: true }),
    makeField("Email", "email"),
  ],
});

const individual = makeSObject({
  name: "Individual",
  keyPrefix: "0PK",
  mergeable: true,
  fields: [...systemFields(), masterRecord("Individual"), ...personName(), owner()],
});

const permissionSet = makeSObject({
  name: "PermissionSet",
  keyPrefix: "0PS",
  undeletable: false,
  searchable: false,
  fields: [
    ...systemFields().filter((field) => field.name !== "IsDeleted"),
    text("Name", 80, { nillable: false, nameField: true }),
    text("Label", 80),
    lookup("ProfileId", "Profile", null),
    makeField("IsOwnedByProfile", "boolean"),
    makeField("PermissionsViewAllData", "boolean", { label: "View All Data" }),
  ],
});

const permissionSetAssignment = makeSObject({
  name: "PermissionSetAssignment",
  keyPrefix: "0Pa",
  undeletable: false,
  searchable: false,
  fields: [
    ...systemFields().filter((field) => field.name !== "IsDeleted"),
    lookup("PermissionSetId", "PermissionSet", "Assignments", { nillable: false }),
    lookup("AssigneeId", "User", "PermissionSetAssignments", { nillable: false }),
  ],
});

const objectPermissions = makeSObject({
  name: "ObjectPermissions",
  keyPrefix: "110",
  undeletable: false,
  searchable: false,
  fields: [
    ...systemFields().filter((field) => field.name !== "IsDeleted"),
    lookup("ParentId", "PermissionSet", "ObjectPerms", { nillable: false }),
    text("SobjectType", 255, { nillable: false }),
    makeField("PermissionsRead", "boolean"),
    makeField("PermissionsViewAllRecords", "boolean"),
  ],
});

/** Service, activity and set-up objects. */
export const SERVICE_OBJECTS: readonly SObject[] = [
  caseObject,
  task,
  event,
  user,
  organization,
  profile,
  recordType,
  userRole,
  group,
  individual,
  permissionSet,
  permissionSetAssignment,
  objectPermissions,
];
