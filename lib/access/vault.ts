/** Seals and opens what must not be readable at rest. What was sealed for one workspace opens for no other. */
export interface Vault {
  /** `plaintext` as text that can be kept anywhere. */
  seal(workspaceId: string, plaintext: string): Promise<string>;
  open(workspaceId: string, sealed: string): Promise<string>;
}
