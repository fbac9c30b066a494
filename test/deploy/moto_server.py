"""
moto 5.2.5 as a server, with what its CloudFormation lacks of the resources that Fencepost deploys:

- event source mappings of Kafka, self-managed or MSK (moto knows SQS, DynamoDB and Kinesis);
- Architectures of functions and point-in-time recovery of tables (dropped silently);
- alarms and bucket policies (skipped).

And two things that go wrong in it: a resource that an update removed is taken for one that exists when a later update
brings it back; an item that DynamoDB's UpdateItem makes is seen half made by a request beside it.

Everything is stored by moto's own backends or models, so that it is read back through the AWS APIs and not from here.
"""

import json
import threading

from moto import server
from moto.awslambda import models as lambdas
from moto.cloudformation.parsing import ResourceMap
from moto.cloudwatch.models import cloudwatch_backends
from moto.core.common_models import CloudFormationModel
from moto.dynamodb.models import Table, dynamodb_backends
from moto.dynamodb.responses import DynamoHandler
from moto.iam.access_control import PermissionResult
from moto.s3.models import FakeBucket, s3_backends


class KafkaMapping(lambdas.EventSourceMapping):
    """Without an ARN where the cluster is self-managed; with the settings that moto does not keep."""

    __module__ = lambdas.__name__  # moto files models by the module that they are of

    def __init__(self, spec):
        self.logging = spec.get("LoggingConfig")
        super().__init__(spec)

    event_source_arn = None
    batch_size = None

    def _get_service_source_from_arn(self, event_source_arn=None):
        return "kafka"

    def get_configuration(self):
        more = {"LoggingConfig": self.logging}
        return super().get_configuration() | {name: value for name, value in more.items() if value}


def api_names(properties):
    """The one name that CloudFormation and the API write differently."""
    if "SelfManagedEventSource" not in properties:
        return {}
    servers = properties["SelfManagedEventSource"]["Endpoints"]["KafkaBootstrapServers"]
    return {"SelfManagedEventSource": {"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": servers}}}


def create_mapping(cls, resource_name, cloudformation_json, account_id, region_name, **_):
    properties = cloudformation_json["Properties"]
    backend = lambdas.get_backend(account_id, region_name)
    function = backend.get_function(properties["FunctionName"])
    place = {"RegionName": region_name, "AccountId": account_id, "FunctionArn": function.function_arn}
    arn = {"EventSourceArn": properties.get("EventSourceArn")}
    mapping = KafkaMapping(arn | properties | place | api_names(properties))
    backend._event_source_mappings[mapping.uuid] = mapping
    return mapping


def update_mapping(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
    backend = lambdas.get_backend(account_id, region_name)
    backend._event_source_mappings.pop(original_resource.uuid)
    mapping = create_mapping(cls, new_resource_name, cloudformation_json, account_id, region_name)
    return mapping


def delete_mapping(cls, resource_name, cloudformation_json, account_id, region_name):
    lambdas.get_backend(account_id, region_name)._event_source_mappings.pop(resource_name)


lambdas.EventSourceMapping.create_from_cloudformation_json = classmethod(create_mapping)
lambdas.EventSourceMapping.update_from_cloudformation_json = classmethod(update_mapping)
lambdas.EventSourceMapping.delete_from_cloudformation_json = classmethod(delete_mapping)
lambdas.EventSourceMapping.delete = lambda self, account_id, region_name: delete_mapping(
    None, self.uuid, None, account_id, region_name
)

create_function = lambdas.LambdaFunction.create_from_cloudformation_json.__func__


def create_function_with_architectures(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
    function = create_function(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs)
    function.architectures = cloudformation_json["Properties"].get("Architectures", function.architectures)
    return function


lambdas.LambdaFunction.create_from_cloudformation_json = classmethod(create_function_with_architectures)

create_table = Table.create_from_cloudformation_json.__func__


def create_table_with_recovery(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
    table = create_table(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs)
    recovery = cloudformation_json["Properties"].get("PointInTimeRecoverySpecification")
    if recovery:
        dynamodb_backends[account_id][region_name].update_continuous_backups(table.name, recovery)
    return table


Table.create_from_cloudformation_json = classmethod(create_table_with_recovery)


update_stack = ResourceMap.update


def update_and_forget(self, template, parameters=None):
    gone = self._resource_json_map.keys() - template["Resources"].keys()
    update_stack(self, template, parameters)
    for logical_id in gone:
        self._parsed_resources.pop(logical_id, None)


ResourceMap.update = update_and_forget

one_at_a_time = threading.RLock()
answer = DynamoHandler.call_action


def answer_alone(self):
    with one_at_a_time:
        return answer(self)


DynamoHandler.call_action = answer_alone


class AlarmResource(CloudFormationModel):
    __module__ = "moto.cloudwatch.alarm"

    def __init__(self, name):
        self.physical_resource_id = name

    @staticmethod
    def cloudformation_name_type():
        return "AlarmName"

    @staticmethod
    def cloudformation_type():
        return "AWS::CloudWatch::Alarm"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **_):
        its = cloudformation_json["Properties"]
        cloudwatch_backends[account_id][region_name].put_metric_alarm(
            name=its["AlarmName"],
            namespace=its["Namespace"],
            metric_name=its["MetricName"],
            comparison_operator=its["ComparisonOperator"],
            evaluation_periods=its["EvaluationPeriods"],
            datapoints_to_alarm=its["DatapointsToAlarm"],
            period=its["Period"],
            threshold=its["Threshold"],
            statistic=its["Statistic"],
            description=its["AlarmDescription"],
            dimensions=its["Dimensions"],
            alarm_actions=its.get("AlarmActions", []),
            ok_actions=its.get("OKActions", []),
            treat_missing_data=its["TreatMissingData"],
        )
        return cls(its["AlarmName"])

    @classmethod
    def update_from_cloudformation_json(
        cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name
    ):
        return cls.create_from_cloudformation_json(new_resource_name, cloudformation_json, account_id, region_name)

    @classmethod
    def delete_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name):
        cloudwatch_backends[account_id][region_name].delete_alarms([resource_name])


# Policies are kept, and not enforced: moto reads no conditions, and would refuse everything that is "denied without TLS".
FakeBucket.get_permission = lambda self, action, resource: PermissionResult.NEUTRAL


class BucketPolicyResource(CloudFormationModel):
    __module__ = "moto.s3.policy"

    def __init__(self, bucket):
        self.physical_resource_id = bucket

    @staticmethod
    def cloudformation_name_type():
        return ""

    @staticmethod
    def cloudformation_type():
        return "AWS::S3::BucketPolicy"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **_):
        its = cloudformation_json["Properties"]
        s3_backends[account_id]["aws"].put_bucket_policy(its["Bucket"], json.dumps(its["PolicyDocument"]).encode())
        return cls(its["Bucket"])

    @classmethod
    def update_from_cloudformation_json(
        cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name
    ):
        return cls.create_from_cloudformation_json(new_resource_name, cloudformation_json, account_id, region_name)

    @classmethod
    def delete_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name):
        backend = s3_backends[account_id]["aws"]
        if resource_name in backend.buckets:  # else its bucket was deleted first, and it with it
            backend.delete_bucket_policy(resource_name)


server.main()
