/** Generated from the row of TaskArguments: npm run generate. */
export const taskParameters = {
	"type": "object",
	"required": [
		"agent",
		"tasks"
	],
	"properties": {
		"agent": {
			"type": "string",
			"description": "The name of the agent to start."
		},
		"context": {
			"type": "string",
			"description": "Shared background, put before each assignment."
		},
		"schema": {
			"type": "object",
			"description": "The required shape of each result, as JSON Schema or JSON Type Definition."
		},
		"tasks": {
			"type": "array",
			"items": {
				"type": "object",
				"required": [
					"id",
					"description",
					"assignment"
				],
				"properties": {
					"id": {
						"type": "string",
						"description": "A CamelCase word of at most 48 characters, different for each task of the call."
					},
					"description": {
						"type": "string",
						"description": "What it is about, in a few words, for a person who follows the run."
					},
					"assignment": {
						"type": "string",
						"description": "Everything the agent must know: the goal, the places, the limits, how to know that it is done."
					}
				},
				"title": "TaskItem",
				"description": "One piece of work."
			}
		},
		"isolated": {
			"type": "boolean",
			"description": "Work in a copy of the repository; what was changed is merged at the end."
		},
		"verify": {
			"anyOf": [
				{
					"type": "boolean"
				},
				{
					"type": "string"
				},
				{
					"type": "object",
					"properties": {
						"profile": {
							"type": "string"
						},
						"mode": {
							"type": "string"
						},
						"commands": {
							"type": "array",
							"items": {
								"type": "object",
								"required": [
									"name",
									"command"
								],
								"properties": {
									"name": {
										"type": "string"
									},
									"command": {
										"type": "string",
										"description": "Run by a login bash in the isolated workspace."
									},
									"timeoutMs": {
										"type": "integer"
									},
									"optional": {
										"type": "boolean",
										"description": "Its failure does not fail the attempt."
									}
								},
								"title": "VerificationCommand",
								"description": "A command that checks isolated work."
							}
						},
						"maxRetries": {
							"type": "integer"
						},
						"onFailure": {
							"enum": [
								"return_failure",
								"discard_patch",
								"retry_once"
							]
						}
					},
					"title": "VerificationRequest",
					"description": "Which checks to run; laid over the named profile."
				}
			],
			"description": "Checks that isolated work must pass: true (the default profile), the name of a profile, or commands."
		}
	},
	"title": "TaskArguments",
	"description": "Arguments of the `task` tool."
} as const;
