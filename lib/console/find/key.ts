/** The key that opens what finds everything, as this device's keyboard has it. */
export const FIND_KEY = /Mac|iP/.test(navigator.platform) ? "⌘ K" : "Ctrl K";
