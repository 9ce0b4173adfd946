/** How an answer of the stand-in differs from a recorded one, and why it may. */
interface Difference {
  readonly request: string;
  readonly difference: string;
  readonly reason: string;
}

/** All differences that the tests here find, in the order in which they find them: those of the org, then those of the cloud. */
export const DIFFERENCES: readonly Difference[] = [
  {
    request: "GET sobjects",
    difference:
      "lacks sobjects[].urls.compactLayouts, sobjects[].urls.approvalLayouts, sobjects[].urls.listviews, sobjects[].urls.quickActions, sobjects[].urls.layouts, sobjects[].urls.caseArticleSuggestions, sobjects[].urls.caseRowArticleSuggestions",
    reason: "the org has no layouts, list views, quick actions and knowledge",
  },
  {
    request: "GET limits/recordCount of an object without records",
    difference: "has sObjects[] besides",
    reason: "the org counts exactly, and every object",
  },
  {
    request: "GET userinfo",
    difference:
      "lacks is_salesforce_integration_user, urls.tooling_soap, urls.tooling_rest, urls.feeds, urls.groups, urls.users, urls.feed_items, urls.feed_elements",
    reason: "of the addresses only those of APIs that the org speaks; no client of ours reads the rest",
  },
  {
    request: "POST composite with an unknown resource",
    difference: "code METHOD_NOT_ALLOWED, not NOT_FOUND",
    reason: "the path is known with another method; Bridge makes no such request",
  },
  {
    request: "POST a record with an unknown field",
    difference: "has [].fields besides",
    reason: "orgs leave `fields` out of errors that are found before saving; clients take both",
  },
  {
    request: "POST a collection of no records",
    difference: "status 200, not 400",
    reason: "Bridge saves by SOAP and Bulk",
  },
  {
    request: "POST a collection of no records",
    difference: "code none, not REQUIRED_FIELD_MISSING",
    reason: "as above",
  },
  {
    request: "PATCH a collection with an unknown field",
    difference: "status 400, not 200",
    reason: "the org refuses the request, a real org the record; Bridge saves by SOAP and Bulk",
  },
  {
    request: "PATCH a collection with an unknown field",
    difference: "code INVALID_FIELD, not ALL_OR_NONE_OPERATION_ROLLED_BACK,INVALID_FIELD",
    reason: "as above",
  },
  {
    request: "GET limits",
    difference: "lacks 53 of 71 limits",
    reason: "of limits that the org does not keep, the commonest are shown",
  },
  { request: "GET limits", difference: "has ActiveScratchOrgs besides", reason: "an org with scratch orgs has it" },
  {
    request: "GET describe of six objects",
    difference:
      "length is 255, not 40: Account.Type, Account.BillingGeocodeAccuracy, Account.ShippingGeocodeAccuracy, Account.Industry, Account.Ownership, Account.Rating, Account.CleanStatus, Account.AccountSource, Case.Type, Case.Status, Case.Reason, Case.Origin, Case.Priority, Contact.Salutation, Contact.OtherGeocodeAccuracy, Contact.MailingGeocodeAccuracy, Contact.CleanStatus, Event.ShowAs, Lead.Salutation, Lead.GeocodeAccuracy",
    reason:
      "the recording is of version 52; since about version 58 orgs say 255 of picklists, and 40 of GeocodeAccuracy alone. Each is a varchar(255) column",
  },
  {
    request: "GET describe of six objects",
    difference:
      "filterable is false, not true: Account.BillingAddress, Account.ShippingAddress, Contact.OtherAddress, Contact.MailingAddress, Lead.Address",
    reason: "the org keeps no compound fields; they are read by their parts",
  },
  {
    request: "GET describe of six objects",
    difference:
      "digits is 9, not 8: Account.NumberOfEmployees, Event.DurationInMinutes, Lead.NumberOfEmployees, Opportunity.FiscalQuarter, Opportunity.FiscalYear",
    reason: "no client of ours reads it for a column",
  },
  {
    request: "GET describe of six objects",
    difference: "relationshipName is null, not JigsawCompany: Account.JigsawCompanyId",
    reason: "the org has no Data.com",
  },
  {
    request: "GET describe of six objects",
    difference: "mergeable is true: Case",
    reason: "newer orgs merge cases",
  },
  {
    request: "GET describe of six objects",
    difference: "idLookup is true, not false: Case.SuppliedEmail",
    reason: "no email address but that of contacts and leads finds a record; nothing of ours looks cases up by it",
  },
  {
    request: "GET describe of six objects",
    difference: "defaultedOnCreate is false, not true: Case.Priority, Event.ShowAs",
    reason: "the values have no default here",
  },
  {
    request: "GET describe of six objects",
    difference:
      "calculated is true, not false: Case.IsClosed, Opportunity.ExpectedRevenue, Opportunity.IsClosed, Opportunity.IsWon",
    reason: "the org derives them by a formula; in a real org a save derives them, with a stamp",
  },
  {
    request: "GET describe of six objects",
    difference: "relationshipName is null, not JigsawContact: Contact.JigsawContactId, Lead.JigsawContactId",
    reason: "the org has no Data.com",
  },
  {
    request: "GET describe of six objects",
    difference: "createable is false, not true: Contact.IndividualId, Lead.IsConverted",
    reason: "the org converts no leads, and links contacts to no individuals",
  },
  {
    request: "GET describe of six objects",
    difference: "updateable is false, not true: Contact.IndividualId",
    reason: "as above, of individuals",
  },
  {
    request: "GET describe of six objects",
    difference: "referenceTo is Account,Case,Opportunity, not 80 objects: Event.WhatId",
    reason: "of what an activity may be about the org has three objects",
  },
  {
    request: "GET describe of six objects",
    difference: "referenceTo is User, not Calendar,User: Event.OwnerId",
    reason: "the org has no calendars",
  },
  {
    request: "GET describe of six objects",
    difference: "createable is true, not false: Lead.EmailBouncedReason, Lead.EmailBouncedDate",
    reason: "the org takes what mail servers would report from any client",
  },
  {
    request: "GET describe of six objects",
    difference: "idLookup is false, not true: Opportunity.Name",
    reason: "orgs find an opportunity by its name when it is created or updated; here only by its id and external ids",
  },
  {
    request: "GET describe of six objects",
    difference: "relationshipName is Contact, not null: Opportunity.ContactId",
    reason: "the recorded org gives this lookup no name to follow it by",
  },
  {
    request: "POST jobs/ingest",
    difference:
      "has numberRecordsProcessed, retries, totalProcessingTime, numberRecordsFailed, jobType, apiActiveProcessingTime, apexProcessingTime besides",
    reason: "orgs show counters only once a job is worked on; clients take both",
  },
  {
    request: "PATCH jobs/ingest",
    difference:
      "has numberRecordsProcessed, retries, totalProcessingTime, numberRecordsFailed, lineEnding, columnDelimiter, jobType, apiActiveProcessingTime, apexProcessingTime besides",
    reason: "as above",
  },
  { request: "POST jobs/query", difference: "has query besides", reason: "an org shows the query in lists of jobs" },
  {
    request: "GET failedResults",
    difference: "all names in quotes, not names of fields without quotes",
    reason: "orgs repeat the names as they were uploaded; Bridge uploads them in quotes",
  },
  {
    request: "GET failedResults",
    difference: "code INVALID_TYPE_ON_FIELD_IN_RECORD, not INVALID_FIELD",
    reason: "the code is that of SOAP; orgs name the column and the type in words",
  },
  {
    request: "SOAP create, refused",
    difference: "has createResponse[].result[].errors[].fields besides",
    reason: "the recorded refusal is of access, and has no field; the WSDL allows both",
  },
  {
    request: "an outbound message",
    difference: "lacks EnterpriseUrl, PartnerUrl",
    reason: "nothing is read of a message but that it came",
  },
  {
    request: "ReceiveMessage of 11 messages",
    difference:
      'says "Value 11 for parameter MaxNumberOfMessages is invalid. Reason: MaxNumberOfMessages must be >= 1 and <= 10.", not "Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided."',
    reason: "the code is the same; no caller reads the words",
  },
  {
    request: "ReceiveMessage that waits 21 s",
    difference:
      'says "Value 21 for parameter WaitTimeSeconds is invalid. Reason: WaitTimeSeconds must be >= 0 and <= 20.", not "Value 21 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided."',
    reason: "as above",
  },
  {
    request: "ReceiveMessage that waits -1 s",
    difference:
      'says "Value -1 for parameter WaitTimeSeconds is invalid. Reason: WaitTimeSeconds must be >= 0 and <= 20.", not "Value -1 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided."',
    reason: "as above",
  },
  {
    request: "PurgeQueue twice in a minute",
    difference: "status 400, not 403",
    reason: "the code is the same; only tests purge",
  },
  {
    request: "GetQueueUrl of a queue that is not there",
    difference: 'says "The specified queue does not exist: no-queue", not "The specified queue does not exist."',
    reason: "a missing queue is easier found by its name",
  },
  {
    request: "event of a request",
    difference:
      "lacks headers.CloudFront-Forwarded-Proto, headers.CloudFront-Is-Desktop-Viewer, headers.CloudFront-Is-Mobile-Viewer, headers.CloudFront-Is-SmartTV-Viewer, headers.CloudFront-Is-Tablet-Viewer, headers.CloudFront-Viewer-ASN, headers.CloudFront-Viewer-Country, headers.Via, headers.X-Amz-Cf-Id, multiValueHeaders.CloudFront-Forwarded-Proto, multiValueHeaders.CloudFront-Is-Desktop-Viewer, multiValueHeaders.CloudFront-Is-Mobile-Viewer, multiValueHeaders.CloudFront-Is-SmartTV-Viewer, multiValueHeaders.CloudFront-Is-Tablet-Viewer, multiValueHeaders.CloudFront-Viewer-ASN, multiValueHeaders.CloudFront-Viewer-Country, multiValueHeaders.Via, multiValueHeaders.X-Amz-Cf-Id",
    reason: "the API of the deployment is regional, without CloudFront before it",
  },
];
