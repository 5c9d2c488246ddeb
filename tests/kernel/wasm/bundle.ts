// What the tests use of the client's model.

export * from "../../../web/src/model/kernel";
export { LiveRun } from "../../../web/src/model/live/live-run";
export { seedResult } from "../../../web/src/model/live/seed-results";
export { SeedRun } from "../../../web/src/model/live/seed-run";
